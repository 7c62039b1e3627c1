import { fileURLToPath } from 'node:url'
import { backtested } from './backtest.mjs'
import { bytes } from './bytes.mjs'
import { maps, pipes } from './chunks.mjs'
import { crowd } from './crowd.mjs'
import { earlyPage } from './early-page.mjs'
import { flow } from './flow.mjs'
import { hooks } from './hooks.mjs'
import { idle } from './idle.mjs'
import { layers } from './layers.mjs'
import { long } from './long.mjs'
import { longTurn } from './long-turn.mjs'
import { replayed } from './replay.mjs'
import { saas } from './stack.mjs'
import { turns } from './turns.mjs'

/**
 * A line of the table.
 *
 * @typedef {object} Row
 * @property {string} id for `profile.mjs` and `run.mjs <id>…`
 * @property {string} title
 * @property {string} unit of a sample
 * @property {Record<string, () => Promise<Side>>} [sides] the yardstick, then `allium`
 * @property {Record<string, string>} [scripts] in place of sides: a program for each, which is its own sample
 * @property {string[]} [command] in place of sides: a program that measures Allium alone
 * @property {'times' | 'growth' | 'most'} kind of what is found: a multiple of the yardstick, of the last to the first turn,
 *   or so many units
 * @property {number} [most] the budget; a row without one is for comparison
 * @property {string} [reason] why it is missed, if it is
 * @property {string} [profiled] what `profile.mjs` counts by, where it can
 * @property {string[]} [flags] of node
 * @property {number} [warmups] so many samples are thrown away, at the least
 * @property {number} [warmth] for so many ms, at the least
 * @property {number} [samples] in each round
 * @property {number} [rounds] of processes
 *
 * @typedef {{ sample(): Promise<number | Record<string, number>>, check(): object, once?(): Promise<void>, per?: number }} Side
 *   `once` does `per` pieces of its work
 */

/** Why a budget is missed, by row. */
const reasons = {
  turn:
    'A turn has ids, events for its readers, state with reducers, limits, and a result that can be read while it is built. The loop has none of these. ' +
    'The profile is flat: session ids take 7 %, reading the stream 5 %, observers 4 % and the JSON of the result 3 %.',
  layer:
    'A layer can be abandoned when its turn is stopped, so each one needs a second promise. koa-compose needs one.',
  chunk:
    'A layer may return a promise, several chunks or none, and its error names it. A plain function does none of this.',
  pipe: 'A pipe can be stopped while it waits, and its error names the layer. A bare generator cannot.',
  longTurn: 'A checkpoint before each step writes all messages of the turn so far.',
  crowd: 'All turns begin in the same millisecond, and each creates the objects of a turn. The loop creates an array.',
  bytes: 'A step has a context, events, a record and copies of its messages, which no layer can change afterwards.',
  stack:
    'Five of the sixteen layers take most of the time: the hash chain of the audit 191 µs, the detection of injections 170 and of personal data 121, the key of the cache 83 and the log 72.',
  start: 'The import reads 68 KB of core, gzipped, and the loop is one short file.',
  size: 'The limit is older than sub-agents, output schemas, approvals, steering and replay, which are part of an agent.',
}

/** @type {Row[]} */
export const rows = [
  {
    id: 'turn',
    reason: reasons.turn,
    title: 'one turn, no tool',
    unit: 'µs',
    sides: turns({ steps: 0, count: 1500 }),
    profiled: 'per turn',
    kind: 'times',
    most: 3,
  },
  {
    id: 'tool',
    reason: reasons.turn,
    title: 'model → tool → model',
    unit: 'µs',
    sides: turns({ steps: 1, count: 600 }),
    profiled: 'per turn',
    kind: 'times',
    most: 2.2,
  },
  {
    id: 'steps',
    reason: reasons.turn,
    title: '20 tool steps',
    unit: 'µs',
    sides: turns({ steps: 20, count: 60 }),
    profiled: 'per step',
    kind: 'times',
    most: 1.3,
  },
  {
    id: 'model-layer',
    reason: reasons.layer,
    title: 'one no-op model layer, 100 deep',
    unit: 'µs',
    sides: layers('model'),
    profiled: 'per layer, a hundredth of the turn itself included',
    kind: 'times',
    most: 2.3,
  },
  {
    id: 'tool-layer',
    reason: reasons.layer,
    title: 'one no-op tool layer, 100 deep',
    unit: 'µs',
    sides: layers('tool'),
    profiled: 'per layer, a hundredth of the turn itself included',
    kind: 'times',
    most: 2.3,
  },
  {
    id: 'turn-layer',
    reason: reasons.layer,
    title: 'one no-op turn layer, 100 deep',
    unit: 'µs',
    sides: layers('turn'),
    profiled: 'per layer, a hundredth of the turn itself included',
    kind: 'times',
    most: 2.3,
  },
  {
    id: 'chunk',
    reason: reasons.chunk,
    title: 'one chunk through 10 onChunk layers',
    unit: 'µs',
    sides: maps,
    profiled: 'per chunk',
    kind: 'times',
    most: 1.3,
  },
  {
    id: 'pipe',
    reason: reasons.pipe,
    title: 'one chunk through 10 pipes',
    unit: 'µs',
    sides: pipes,
    profiled: 'per chunk',
    kind: 'times',
    most: 2.4,
  },
  {
    id: 'long',
    title: 'turn 200 of a session against turn 1',
    unit: 'µs',
    sides: long,
    kind: 'growth',
    most: 1.2,
    samples: 7,
  },
  {
    id: 'long-turn',
    reason: reasons.longTurn,
    title: '1,000 tool steps in a file of SQLite against 100',
    unit: 'µs',
    sides: longTurn,
    kind: 'growth',
    most: 12,
    warmups: 1,
    warmth: 0,
    samples: 3,
  },
  {
    id: 'early-page',
    title: 'the first page of 5,000 turns against the last, from a server',
    unit: 'µs',
    sides: earlyPage,
    kind: 'growth',
    most: 1.2,
    samples: 7,
  },
  {
    id: 'crowd',
    reason: reasons.crowd,
    title: '2,000 runs at once on a 50 ms model',
    unit: 'ms over',
    sides: crowd,
    kind: 'times',
    most: 3,
    samples: 9,
  },
  {
    id: 'idle',
    title: 'idle session, before its first turn',
    unit: 'B',
    sides: idle(0),
    kind: 'most',
    most: 1536,
    flags: ['--expose-gc'],
    warmups: 1,
    warmth: 0,
    samples: 1,
  },
  {
    id: 'idle-after',
    title: 'idle session, after a turn, messages included',
    unit: 'B',
    sides: idle(1),
    kind: 'most',
    most: 1536,
    flags: ['--expose-gc'],
    warmups: 1,
    warmth: 0,
    samples: 1,
  },
  {
    id: 'bytes',
    reason: reasons.bytes,
    title: 'bytes allocated per tool step',
    unit: 'B',
    sides: bytes,
    kind: 'times',
    most: 1.3,
    flags: ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'],
    samples: 5,
  },
  {
    id: 'stack',
    reason: reasons.stack,
    title: 'the 16 layers of a SaaS backend over one model call',
    unit: 'µs',
    sides: saas,
    profiled: 'per turn',
    kind: 'times',
    most: 12,
    // 4,800 turns on either side: the sixteen layers take so long to get warm.
    warmups: 80,
  },
  {
    id: 'flow',
    title: 'guard.flow with ten labelled tools, in that stack, over a turn with a tool call',
    unit: 'µs',
    sides: flow,
    kind: 'times',
    most: 1.1,
    warmups: 40,
  },
  {
    id: 'backtest',
    title: 'a backtest of 10,000 recorded tool calls',
    unit: 's',
    sides: backtested,
    kind: 'most',
    most: 10,
    warmups: 1,
    warmth: 0,
    samples: 3,
  },
  {
    id: 'replay',
    title: 'a replayed turn, of 1,000 unchanged ones, CPU',
    unit: 'ms',
    sides: replayed,
    kind: 'most',
    most: 12,
    warmups: 1,
    warmth: 0,
    samples: 3,
  },
  {
    id: 'start',
    reason: reasons.start,
    title: 'import and first run',
    unit: 'ms',
    scripts: { loop: 'start-loop.mjs', allium: 'start-allium.mjs' },
    kind: 'times',
    most: 1.2,
    rounds: 15,
  },
  {
    id: 'size',
    reason: reasons.size,
    title: "import { Agent } from '@allium/core', gzipped",
    unit: 'KB',
    command: [fileURLToPath(new URL('../bundle-size.mjs', import.meta.url))],
    kind: 'most',
    most: 30,
    rounds: 1,
  },
  {
    id: 'hooks',
    title: 'model → tool → model, 10 lifecycle objects in one layer',
    unit: 'µs',
    sides: hooks(false),
    kind: 'times',
  },
  {
    id: 'hooks-nested',
    title: 'the same, each object in a layer of its own',
    unit: 'µs',
    sides: hooks(true),
    kind: 'times',
  },
]
