import { createLoader, type LoadConfig, type Packs } from '@allium/config'
// Imported by the package's name, because in a shared chunk a module would lose its `export *`.
import * as allium from 'allium'
import * as aiSdk from 'allium/ai-sdk'
import * as guard from 'allium/guard'
import * as hooks from 'allium/hooks'
import * as memory from 'allium/memory'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import * as pack from 'allium/pack'
import * as tools from 'allium/tools'
import { packs } from './config-packs/packs.ts'
import { serverPacks } from './config-packs/tools.ts'

export type * from '@allium/config'
export { createLoader, defineConfig } from '@allium/config'
export { packs } from './config-packs/packs.ts'
export { serverPacks } from './config-packs/tools.ts'

/**
 * Reads a config and returns its agent. The agent has not started, so `.use()` still works. A config names packs and models of
 * Allium. A path is trusted, and its file may contain code. An object may only name packs, unless `trusted` is set.
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

/** An untrusted config may not use `tools.mcp`, which starts programs. */
const loadUntrusted = loaderOf(packs)
const loadTrusted = loaderOf({ ...packs, ...serverPacks })

function loaderOf(allowedPacks: Packs): LoadConfig {
  return createLoader({
    packs: allowedPacks,
    createAgent: (options) => new allium.Agent(options),
    modules: {
      allium,
      'allium/ai-sdk': aiSdk,
      'allium/config': { defineConfig: (config: unknown) => config },
      'allium/guard': guard,
      'allium/hooks': hooks,
      'allium/memory': memory,
      'allium/model': model,
      'allium/observe': observe,
      'allium/pack': pack,
      'allium/tools': tools,
    },
  })
}
