/**
 * The environment for a command by npx. Under `npx -p node@24 npm test` it must not have what that
 * npx was told: an npx within it would look for its command among the packages of the first. Nor
 * must it be as silent as npm is with --silent, to print into a file: it would not say what failed.
 * Packages that ask for a newer Node than Freshet does are tested on its oldest: a user who has npm
 * take such a wish for an order (engine-strict) could install nothing there.
 */
export function npxEnvironment() {
  const outer = ['npm_config_package', 'npm_config_call', 'npm_config_loglevel'];
  const kept = Object.entries(process.env).filter(([name]) => !outer.includes(name));
  return { ...Object.fromEntries(kept), npm_config_engine_strict: 'false' };
}

/** Without a network npm and pnpm would retry for a minute and a half before they fail. */
export function impatient(environment) {
  return {
    ...environment,
    npm_config_fetch_retry_mintimeout: '1000',
    npm_config_fetch_retry_maxtimeout: '5000',
  };
}
