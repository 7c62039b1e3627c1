import { createLoader, type LoadConfig } from '@allium/config'
import { Agent } from './agent.ts'
import { packs } from './config-packs.ts'
import * as allium from './index.ts'

export type * from '@allium/config'
export { createLoader, defineConfig } from '@allium/config'
export { packs } from './config-packs.ts'

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
export const loadConfig: LoadConfig = createLoader({
  packs,
  createAgent: (options) => new Agent(options),
  modules: { allium, 'allium/config': { defineConfig: (config: unknown) => config } },
})
