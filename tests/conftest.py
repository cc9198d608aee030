"""Fixtures that tests of several rooms share."""

pytest_plugins = ["tests.support.postgres", "tests.support.tansu", "tests.support.kafka"]
