import { checkOptions } from '@allium/core/internal'
import type { Gate } from '../gates/gate.ts'
import { gateList, kindOf } from '../gates/gate.ts'
import { type CheckedEval, defineEval } from '../run/define-eval.ts'
import type { EvalDefinition } from '../run/options.ts'
import { casesNeeded, smallestLimit } from '../statistics/margin.ts'
import { type Plan, plan } from '../statistics/plan.ts'
import { worldNames } from '../statistics/worlds.ts'
import { table, wrapped } from './terminal.ts'
import { conditionOf, count, oneLine, percent, plain, points } from './words.ts'

/** What a gate of an evaluation can show with its cases. */
export interface PlannedGate {
  readonly scorer: string
  readonly gate: Gate
  /** Whether it passes if all cases succeed as well as possible. */
  readonly canPass: boolean
  /** The number of cases, or of groups, from which on it can pass. Undefined if no number suffices. */
  readonly unitsNeeded?: number
  /** For `maxDrop`: how often it decides, by simulations. */
  readonly power?: Pick<Plan, 'drop' | 'worlds'>
}

/** What an evaluation can show, before anything runs. */
export interface EvalPlan {
  readonly cases: number
  /** Cases without a group, and groups. */
  readonly units: number
  readonly trials: number
  /** Even if no score changes, a smaller `maxDrop` than this cannot pass. */
  readonly smallestMaxDrop: number
  /** Even if all cases score 1, a larger `min` than this cannot pass. */
  readonly largestMin: number
  readonly gates: readonly PlannedGate[]
}

/**
 * Returns what the gates of an evaluation can show with its cases. Runs no case. Simulations take a few seconds for each `maxDrop`.
 *
 * @param options `runs`: simulated comparisons per world. @default 4,000
 * @throws AlliumError `options.invalid`
 */
export function planEval<Name extends string, E = unknown>(
  definition: EvalDefinition<E, Name>,
  options: { runs?: number | undefined } = {},
): EvalPlan {
  checkOptions(options, { runs: true }, 'planEval()', 'options.invalid')
  const { cases, trials = 3, gates = {}, scorers }: CheckedEval<E, Name> = defineEval(definition)
  const units = new Set(cases.map(({ id, group }) => (group === undefined ? `case ${id}` : `group ${group}`))).size
  const list = gateList(gates, Object.keys(scorers))
  return {
    ...{
      cases: cases.length,
      units,
      trials,
      smallestMaxDrop: smallestLimit(units),
      largestMin: 1 - smallestLimit(units),
    },
    gates: list.map(({ scorer, gate }) => plannedGate(scorer, gate, units, { trials, runs: options.runs })),
  }
}

function plannedGate(
  scorer: string,
  gate: Gate,
  units: number,
  { trials, runs }: { trials: number; runs: number | undefined },
): PlannedGate {
  const { kind, value } = kindOf(gate, scorer)
  const margin = { min: 1 - value, maxDrop: value, maxRatio: value - 1 }[kind]
  const needed = casesNeeded(margin)
  // From a larger drop on, a simulated score would fall below 0.
  const drop = Math.min(value + 0.1, 0.69)
  const isSimulated = kind === 'maxDrop' && value >= 0 && value < 0.69
  const { worlds } = isSimulated ? plan({ units, maxDrop: value, trials, drop, runs }) : {}
  return {
    ...{ scorer, gate, canPass: margin > smallestLimit(units) },
    ...(Number.isFinite(needed) && { unitsNeeded: needed }),
    ...(worlds !== undefined && { power: { drop, worlds } }),
  }
}

/** Returns a plan as text for a terminal. @param width columns of the terminal */
export function planText(
  name: string,
  { cases, units, trials, smallestMaxDrop, largestMin, gates }: EvalPlan,
  width = 100,
): string {
  const groups = units === cases ? '' : ` in ${count(units, 'group')}`
  const limits = `With ${count(units, units === cases ? 'case' : 'group')}, no maxDrop below ${points(smallestMaxDrop)} can pass, and no min above ${plain(largestMin)}.`
  const simulated = gates.filter(({ power }) => power !== undefined)
  const header = ['', ...worldNames]
  const powers = simulated.flatMap(({ scorer, gate, power }) => {
    if (power === undefined) return []
    const row = (of: 'fails' | 'passes') => worldNames.map((world) => percent(power.worlds[world][of]))
    return [
      '',
      `${oneLine(scorer)}: ${conditionOf(gate)}`,
      ...table([
        header,
        [`  fails if the score falls by ${points(power.drop)}`, ...row('fails')],
        ['  passes if nothing changed', ...row('passes')],
      ]),
    ]
  })
  return [
    `${oneLine(name)}: ${count(cases, 'case')}${groups}, ${count(trials, 'trial')} each`,
    ...wrapped(limits, width),
    '',
    ...table(
      gates.map((one) => [
        one.canPass ? 'can pass' : 'cannot pass',
        oneLine(one.scorer),
        conditionOf(one.gate),
        needs(one),
      ]),
    ),
    ...powers,
    ...(simulated.length === 0 ? [] : ['', ...wrapped(worldsLegend, width)]),
    '',
  ].join('\n')
}

function needs({ canPass, unitsNeeded }: PlannedGate): string {
  if (canPass) return ''
  return unitsNeeded === undefined ? 'allow more than no change' : `needs at least ${count(unitsNeeded, 'case')}`
}

const worldsLegend =
  'How often, in simulations of agents with: mixed = hard and easy cases; easy = 95 % right; frozen = equal trials of a case, as with temperature 0; rare = few cases that fall from 1 to 0; graded = grades of a judge.'
