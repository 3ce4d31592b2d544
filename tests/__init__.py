"""The tests, a folder a package of the product; some folders start one service for all their tests."""
