/**
 * The environment for a command by npx. Under `npx -p node@24 npm test` it must not have what that
 * npx was told: an npx within it would look for its command among the packages of the first.
 */
export function npxEnvironment() {
  const { npm_config_package: _, npm_config_call: __, ...environment } = process.env;
  return environment;
}
