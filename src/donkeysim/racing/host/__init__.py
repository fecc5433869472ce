"""Races over the network: clients as racers, the paddock between races, and the server's thread that holds them."""
