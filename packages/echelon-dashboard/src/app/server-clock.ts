import { createServerClock } from 'echelon-client/server-clock';

/** The clock of the server, which the answers of the API tell. */
export const clock = createServerClock();

/** Now by the clock of the server, in ms since 1970: recorded times are of that clock. */
export const now = clock.now;
