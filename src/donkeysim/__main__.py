"""`python -m donkeysim`: the same as `donkey`."""

from donkeysim.cli.donkey import main

if __name__ == "__main__":
    main()
