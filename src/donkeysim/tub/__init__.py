"""Tubs: records of drives as folders of pictures and JSON lines; knows no simulator."""
