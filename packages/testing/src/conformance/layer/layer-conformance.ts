import { type AgentOptions, type AnyMiddleware, type AnyTool, checkOptions, type KeysOf } from '@allium/core'
import type { ScriptedStep } from '../../step.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { abortCases } from './abort-cases.ts'
import { agreementCases } from './agreement-cases.ts'
import { makeLayer } from './bench.ts'
import { errorCases } from './error-cases.ts'
import { callScopes } from './hook-placements.ts'
import { nameCases } from './name-cases.ts'
import { passingCases } from './pass-through-cases.ts'
import { reentryCases } from './reentry-cases.ts'
import { suspensionCases } from './suspension-cases.ts'
import { tenantCases } from './tenant-cases.ts'

const allCases = {
  ...nameCases,
  ...agreementCases,
  ...reentryCases,
  ...errorCases,
  ...abortCases,
  ...passingCases,
  ...suspensionCases,
  ...tenantCases,
}

/** The claims of the suite. Those that begin with a scope are made of layers that hook it. */
export type LayerCaseName = keyof typeof allCases

export interface LayerConformanceOptions {
  /** The layer, or what makes a new one for each agent of the suite: needed where it keeps something in a closure. */
  layer: AnyMiddleware | (() => AnyMiddleware)
  /** As `.use(layer, config)` takes it. */
  config?: unknown | undefined
  /** A run that the layer does its work in. @default a tool call, then an answer */
  steps?: readonly ScriptedStep[] | undefined
  /** Tools beside "work", which the suite's own scripts call. */
  tools?: readonly AnyTool[] | undefined
  /** Who acts, in all sessions; the tenant is the suite's, as `tenantId` and as `tenant`. @default { userId: 'ada' } */
  principal?: object | undefined
  context?: unknown | undefined
  /** Further options of the agents, such as instructions. The clock is the suite's. */
  agent?: Omit<Partial<AgentOptions>, 'model' | 'clock'> | undefined
  /** Cases that the layer's purpose contradicts, each with its reason. */
  skip?: Readonly<Partial<Record<LayerCaseName, string>>> | undefined
  /** Fails where `order` is missing; else that is a warning. @default false */
  strict?: boolean | undefined
  /** Takes warnings. @default console.warn */
  warn?(message: string): void
}

const known: KeysOf<LayerConformanceOptions> = {
  layer: true,
  config: true,
  steps: true,
  tools: true,
  principal: true,
  context: true,
  agent: true,
  skip: true,
  strict: true,
  warn: true,
}

/**
 * Whether a layer keeps the contract of the onion, as cases with a name and `run()`. {@link layerConformance} registers them.
 *
 * @throws TypeError where `skip` names no case that is asked of the layer
 */
export function layerCases(
  layer: LayerConformanceOptions['layer'],
  rest: Omit<LayerConformanceOptions, 'layer'> = {},
): ConformanceCase<LayerCaseName>[] {
  checkOptions(rest, known, 'layerCases()', 'options.invalid')
  const options = { ...rest, layer }
  const { skip = {} } = options
  const names = namesFor(makeLayer(options))
  checkSkips(skip, names)
  return names.map((name) => ({
    name,
    run: () => allCases[name](options),
    ...(skip[name] !== undefined && { skip: skip[name] }),
  }))
}

/**
 * Registers the suite that every layer passes, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * layerConformance({ layer: () => guard.budget({ limit: 5 }), describe, it })
 */
export function layerConformance({
  layer,
  name,
  describe,
  it,
  ...options
}: LayerConformanceOptions & TestFunctions & { name?: string }): void {
  const title = name ?? (makeLayer({ layer }).name || 'a layer')
  register(title, layerCases(layer, options), { describe, it })
}

/** What a layer hooks is asked of it; one that hooks no call, such as a store's, stands among all of them. */
function namesFor(layer: AnyMiddleware): LayerCaseName[] {
  const hooked = callScopes.filter((scope) => layer[scope] !== undefined)
  const asked: readonly string[] = hooked.length === 0 ? callScopes : hooked
  const names = Object.keys(allCases) as LayerCaseName[]
  return names.filter((name) => {
    const scope = /^(turn|model|tool): /.exec(name)?.[1]
    return scope === undefined || asked.includes(scope)
  })
}
