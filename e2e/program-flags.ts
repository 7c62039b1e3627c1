/**
 * The flags of Node for programs of the workspace. `npm run e2e` has built all packages, and `.ci/run` before the long tests, so their programs start from
 * these, which takes half the time. A single test file runs the sources.
 */
export const programFlags: readonly string[] =
  process.env.ALLIUM_BUILT === '1' ? ['--import=tsx'] : ['--conditions=@allium/source', '--import=tsx']
