/**
 * The environment for a nested npx, without the options of the outer one (`npx -p node@24 npm
 * test`): with them it would look for its command in the packages of the outer one.
 */
export function npxEnvironment() {
  const { npm_config_package: _, npm_config_call: __, ...environment } = process.env;
  return environment;
}
