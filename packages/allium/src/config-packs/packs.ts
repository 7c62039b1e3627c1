import type { Packs } from '@allium/config'
import { guardPacks } from './guard.ts'
import { memoryPacks } from './memory.ts'
import { modelPacks } from './model.ts'
import { observePacks } from './observe.ts'
import { toolPacks } from './tools.ts'

/**
 * The packs that a config may name under `agent.use`, with the options that fit in a file. Options that are functions need code.
 * To add packs, call `createLoader({ packs: { ...packs, 'own.layer': { create, options } } })`.
 */
export const packs: Packs = { ...guardPacks, ...modelPacks, ...observePacks, ...memoryPacks, ...toolPacks }
