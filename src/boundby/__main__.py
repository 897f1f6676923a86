"""`python -m boundby` is the `boundby` command."""

from boundby.reports.cli import main

if __name__ == "__main__":
    main()
