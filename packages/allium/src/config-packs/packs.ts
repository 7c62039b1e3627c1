import type { Packs } from '@allium/config'
import { guardPacks } from './guard.ts'
import { memoryPacks } from './memory.ts'
import { modelPacks } from './model.ts'
import { observePacks } from './observe.ts'
import { toolPacks } from './tools.ts'

/**
 * What a config may name under `agent.use`, and the options that fit in a file; those that are functions are for code.
 * Give `createLoader({ packs: { ...packs, 'own.layer': { create, options } } })` for more.
 */
export const packs: Packs = { ...guardPacks, ...modelPacks, ...observePacks, ...memoryPacks, ...toolPacks }
