"""What people import: the classifiers, which are thin."""
