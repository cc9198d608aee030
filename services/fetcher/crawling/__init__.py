"""A site as one wish: finding its pages, keeping their links, and noticing what has gone."""
