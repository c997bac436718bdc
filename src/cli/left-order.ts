/** Said after an order went to the database because no daemon answered over HTTP. */
export const orderedFromDatabase =
  'No daemon answered over HTTP: the order is in the database, and the daemon takes it within 2 seconds, or when it starts.';
