/**
 * The environment for a command by npx. Under `npx -p node@24 npm test` it must not have what that
 * npx was told: an npx within it would look for its command among the packages of the first. Nor
 * must it be as silent as npm is with --silent, to print into a file: it would not say what failed.
 */
export function npxEnvironment() {
  const outer = ['npm_config_package', 'npm_config_call', 'npm_config_loglevel'];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.includes(name)));
}
