import type { AnyMiddleware } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { abortCases } from './abort-cases.ts'
import { agreementCases } from './agreement-cases.ts'
import { errorCases } from './error-cases.ts'
import { callScopes } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
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

/** The rules of the suite. Those that begin with a scope apply to layers that hook it. */
export type LayerCaseName = keyof typeof allCases

export interface LayerConformanceOptions extends LayerUnderTest {
  /** Cases that contradict the layer's purpose, each with its reason. */
  skip?: Readonly<Partial<Record<LayerCaseName, string>>> | undefined
}

const known: KeysOf<LayerConformanceOptions> = {
  layer: true,
  config: true,
  steps: true,
  tools: true,
  principal: true,
  context: true,
  agentOptions: true,
  skip: true,
  strict: true,
  warn: true,
}

/**
 * Returns the contract of the onion for a layer, as cases with a name and `run()`. {@link layerConformance} registers them.
 *
 * @throws TypeError when `skip` names no case that applies to the layer
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
 * Registers the suite for every layer, with `describe` and `it` of vitest, jest or node:test.
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

/** Returns the cases for the scopes that a layer hooks. A layer without call hooks, such as a store's, is checked in all of them. */
function namesFor(layer: AnyMiddleware): LayerCaseName[] {
  const hooked = callScopes.filter((scope) => layer[scope] !== undefined)
  const checkedScopes: readonly string[] = hooked.length === 0 ? callScopes : hooked
  const names = Object.keys(allCases) as LayerCaseName[]
  return names.filter((name) => {
    const scope = /^(turn|model|tool): /.exec(name)?.[1]
    return scope === undefined || checkedScopes.includes(scope)
  })
}
