import { AlliumError, type Middleware } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { RolloutStore } from '@allium/store'
import type { CanaryOptions } from '../canary.ts'
import type { Combinable } from '../combine.ts'
import { describe } from '../describe.ts'
import type { ScoreTurn } from './served-turn.ts'
import type { VerdictOptions } from './verdict.ts'

export interface RolloutOptions extends CanaryOptions, VerdictOptions {
  /** The name in the store. Change it when the layer changes, so that its users count anew. @default the layer's name */
  name?: string | undefined
  /** Scores each turn after it has ended. @default none: scores come later, through `score()` of the rollout */
  score?: ScoreTurn | undefined
  /** Where users are counted. @default the `rollouts` of the agent's store */
  store?: RolloutStore | undefined
  /** The number of turns of a user that count, from 1 to 100. @default 5 */
  turns?: number | undefined
  /** How long the turns of a user count after the first, in milliseconds. @default a day */
  windowMs?: number | undefined
  /** How long a process uses what it has read from the store, in milliseconds. A stop reaches all processes within this time. @default 10_000 */
  refresh?: number | undefined
  /** Whether all turns use the layer when the verdict is `good`. @default false: the share stays */
  promote?: boolean | undefined
}

const optionKeys: KeysOf<RolloutOptions> = {
  ...{ percent: true, per: true, maxDrop: true, alpha: true, name: true, score: true, store: true },
  ...{ turns: true, windowMs: true, refresh: true, promote: true },
}

/** Returns the options with their defaults. @throws AlliumError `layer.config` */
export function readOptions(layer: Combinable, options: RolloutOptions) {
  checkOptions(options ?? null, optionKeys, 'rollout()', 'layer.config')
  const { name = nameOf(layer), turns = 5, windowMs = 86_400_000, refresh = 10_000, promote = false } = options
  const { percent, maxDrop = 0, alpha = 0.05, score } = options
  check('percent', percent, percent >= 0 && percent <= 100, 'a number from 0 to 100')
  check('maxDrop', maxDrop, maxDrop >= 0 && maxDrop < 1, 'a number from 0 to below 1; 0.02 allows for two points')
  check('alpha', alpha, alpha > 0 && alpha < 1, 'a number between 0 and 1')
  check('turns', turns, Number.isInteger(turns) && turns >= 1 && turns <= 100, 'a whole number from 1 to 100')
  check('windowMs', windowMs, windowMs > 0 && windowMs <= 1e12, 'milliseconds, more than 0')
  check('refresh', refresh, refresh >= 0 && refresh <= 3_600_000, 'milliseconds, at most an hour')
  check('name', name, typeof name === 'string' && name !== '', 'a text; a list or a function has no name of its own')
  check('score', score, score === undefined || typeof score === 'function', 'a function that takes a turn')
  return { ...options, name: name as string, turns, windowMs, refresh, promote, maxDrop, alpha }
}

export type Settings = ReturnType<typeof readOptions>

function nameOf(layer: Combinable): string | undefined {
  return Array.isArray(layer) ? undefined : (layer as Partial<Middleware> | undefined)?.name
}

function check(option: string, value: unknown, isValid: boolean, expected: string): void {
  if (isValid) return
  throw new AlliumError(
    'layer.config',
    `The ${option} of rollout() must be ${expected}, but ${describe(value)} was given.`,
  )
}
