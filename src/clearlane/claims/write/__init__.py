"""Write claims as an 837: placements, context, envelope, and the layout of what was sent."""
