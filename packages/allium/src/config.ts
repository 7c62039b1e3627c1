import { createLoader, type LoadConfig, type Packs } from '@allium/config'
// By its name: in a bundle that shares a chunk with it, the index would lose what it exports with a star.
import * as allium from 'allium'
import { packs } from './config-packs/packs.ts'
import { serverPacks } from './config-packs/tools.ts'

export type * from '@allium/config'
export { createLoader, defineConfig } from '@allium/config'
export { packs } from './config-packs/packs.ts'
export { serverPacks } from './config-packs/tools.ts'

/**
 * Reads a config and gives its agent, which has not begun: `.use()` still works. It knows the packs of Allium by their names,
 * and finds models by theirs. A path is trusted, for a file may hold code; an object may name packs only, unless the
 * caller says otherwise.
 *
 * @throws AlliumError `config.*`, with file, line and column
 * @example
 * const agent = await loadConfig('allium.config.yml')
 * const { text } = await agent.run('Hello')
 */
export const loadConfig: LoadConfig = (config, options = {}) => {
  const { trusted = typeof config === 'string' || config instanceof URL } = options
  return (trusted ? loadTrusted : loadUntrusted)(config, options)
}

/** A config from elsewhere may name packs, and `tools.mcp` starts programs. */
const loadUntrusted = loaderOf(packs)
const loadTrusted = loaderOf({ ...packs, ...serverPacks })

function loaderOf(packs: Packs): LoadConfig {
  return createLoader({
    packs,
    createAgent: (options) => new allium.Agent(options),
    modules: { allium, 'allium/config': { defineConfig: (config: unknown) => config } },
  })
}
