"""The version, kept where the packaging reads it: a build without the linked rooms fails on it instead of being empty."""

VERSION = "0.1.0"
