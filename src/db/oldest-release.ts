/**
 * The oldest release that may use a database in its newest form. A migration that an older release could not live with
 * raises it. The table `oldest_release` holds it too, so that an older release than that finds it and does not start.
 */
export const OLDEST_RELEASE = '0.3.0';

/** The oldest release that knows secrets. Any before would hand out their encrypted form as the value. */
export const OLDEST_WITH_SECRETS = '0.3.0';
