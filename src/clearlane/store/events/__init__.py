"""Events in their order, webhook endpoints, and deliveries to them."""
