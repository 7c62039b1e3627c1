import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { allium } from './allium.ts'

const module = (name: string) => fileURLToPath(new URL(`./modules/${name}.ts`, import.meta.url))

test('run takes a module with a group of agents, and shows the onions of all agents that answered', async () => {
  const { code, out, err } = await allium('run', '--trace', module('desk'), 'Money back')
  expect([code, out]).toEqual([0, 'Refunded.\n'])
  expect(err).toMatch(/stopped after/)
  expect(err).toMatch(/completed after/)
})

test('run takes a module with a workflow', async () => {
  const { code, out } = await allium('run', module('refund'), '{}')
  expect([code, JSON.parse(out)]).toEqual([0, { paid: 20 }])
})

test('check shows what it finds in a module, and options of configs are rejected', async () => {
  expect(await allium('check', module('desk'))).toMatchObject({ code: 0, out: 'desk: no findings\n' })
  const { code, err } = await allium('run', '--model', 'x/y', module('desk'), 'Hi')
  expect([code, err]).toEqual([2, expect.stringContaining('exports the agent "desk". Change it there.')])
})
