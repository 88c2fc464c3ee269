"""What is kept on disk: plan files and settings."""
