"""What can be bought and run: cards, servers, models, software, prices, each figure with its source."""
