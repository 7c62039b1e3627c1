import { fileURLToPath } from 'node:url'
import { maps, pipes } from './chunks.mjs'
import { crowd } from './crowd.mjs'
import { hooks } from './hooks.mjs'
import { idle } from './idle.mjs'
import { layers } from './layers.mjs'
import { long } from './long.mjs'
import { turns } from './turns.mjs'

/**
 * A line of the table.
 *
 * @typedef {object} Row
 * @property {string} id for `worker.mjs`, `profile.mjs` and `run.mjs <id>…`
 * @property {string} title
 * @property {string} unit of a sample
 * @property {Record<string, () => Promise<Side>>} [sides] the yardstick, then `allium`
 * @property {Record<string, string>} [scripts] in place of sides: a program for each, which is its own sample
 * @property {string[]} [command] in place of sides: a program that measures Allium alone
 * @property {Limit[]} limits
 * @property {string[]} [flags] of node
 * @property {number} [warmups] samples that are thrown away
 * @property {number} [samples]
 * @property {number} [rounds] of processes
 *
 * @typedef {{ sample(): Promise<number | Record<string, number>>, check(): object }} Side
 * @typedef {{ kind: 'over' | 'times' | 'most' | 'growth', most: number }} Limit
 *   `over`: units over the yardstick; `times`: a multiple of it; `most`: units; `growth`: the last to the first turn
 */

/** @type {Row[]} */
export const rows = [
  {
    id: 'turn',
    title: 'one turn, no tool',
    unit: 'µs',
    sides: turns({ steps: 0, count: 3000 }),
    limits: [{ kind: 'over', most: 2 }],
  },
  {
    id: 'tool',
    title: 'model → tool → model',
    unit: 'µs',
    sides: turns({ steps: 1, count: 1000 }),
    limits: [{ kind: 'over', most: 3 }],
  },
  {
    id: 'steps',
    title: '20 tool steps',
    unit: 'µs',
    sides: turns({ steps: 20, count: 100 }),
    limits: [{ kind: 'times', most: 1.8 }],
  },
  {
    id: 'turn-layer',
    title: 'one no-op turn layer, 100 deep',
    unit: 'µs',
    sides: layers('turn'),
    limits: [{ kind: 'times', most: 2 }],
  },
  {
    id: 'model-layer',
    title: 'one no-op model layer, 100 deep',
    unit: 'µs',
    sides: layers('model'),
    limits: [{ kind: 'times', most: 2 }],
  },
  {
    id: 'chunk',
    title: 'one chunk through 10 onChunk layers',
    unit: 'µs',
    sides: maps,
    limits: [
      { kind: 'times', most: 2 },
      { kind: 'most', most: 0.5 },
    ],
  },
  {
    id: 'pipe',
    title: 'one chunk through 10 pipes',
    unit: 'µs',
    sides: pipes,
    limits: [{ kind: 'most', most: 4 }],
  },
  {
    id: 'hooks',
    title: 'model → tool → model, 10 lifecycle objects in one layer',
    unit: 'µs',
    sides: hooks(false),
    limits: [{ kind: 'times', most: 1.3 }],
  },
  {
    id: 'hooks-nested',
    title: 'the same, each object in a layer of its own',
    unit: 'µs',
    sides: hooks(true),
    limits: [{ kind: 'times', most: 4 }],
  },
  {
    id: 'long',
    title: 'turn 200 of a session against turn 1',
    unit: 'µs',
    sides: long,
    limits: [{ kind: 'growth', most: 1.2 }],
    warmups: 3,
    samples: 7,
  },
  {
    id: 'crowd',
    title: '2,000 runs at once on a 50 ms model',
    unit: 'ms over',
    sides: crowd,
    limits: [{ kind: 'times', most: 3 }],
    warmups: 3,
    samples: 7,
  },
  {
    id: 'idle',
    title: 'idle session, before its first turn',
    unit: 'B',
    sides: idle(0),
    limits: [{ kind: 'most', most: 1536 }],
    flags: ['--expose-gc'],
    warmups: 1,
    samples: 1,
  },
  {
    id: 'idle-after',
    title: 'idle session, after a turn, messages included',
    unit: 'B',
    sides: idle(1),
    limits: [{ kind: 'most', most: 1536 }],
    flags: ['--expose-gc'],
    warmups: 1,
    samples: 1,
  },
  {
    id: 'start',
    title: 'import and first run',
    unit: 'ms',
    scripts: { loop: 'start-loop.mjs', allium: 'start-allium.mjs' },
    limits: [{ kind: 'times', most: 1.2 }],
    rounds: 15,
  },
  {
    id: 'size',
    title: "import { Agent } from '@allium/core', gzipped",
    unit: 'KB',
    command: [fileURLToPath(new URL('../bundle-size.mjs', import.meta.url))],
    limits: [{ kind: 'most', most: 20 }],
    rounds: 1,
  },
]
