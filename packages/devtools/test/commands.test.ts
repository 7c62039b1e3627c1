import { expect, test } from 'vitest'
import { type Command, indexAfter, matching } from '../web/store/commands.ts'

const command = (group: Command['group'], name: string, hint?: string): Command => ({
  group,
  name,
  ...(hint !== undefined && { hint }),
  run() {},
})
const commands = [
  command('Action', 'New session'),
  command('View', 'State'),
  command('Act as', 'Jane', '{"userId":"jane"}'),
  command('Session', 'support-1', 'completed · jane of acme'),
]
const names = (query: string) => matching(commands, query).map(({ name }) => name)

test('finds commands by words of their group, name and facts, in any order and case', () => {
  expect(names('')).toHaveLength(4)
  expect(names('ACME support')).toEqual(['support-1'])
  expect(names('view')).toEqual(['State'])
  expect(names('nothing')).toEqual([])
})

test('a command whose name begins with the query comes first', () => {
  expect(names('s')).toEqual(['State', 'support-1', 'New session', 'Jane'])
})

test('shows at most 40 commands', () => {
  expect(matching(Array<Command>(10_000).fill(commands[0] as Command), 'new')).toHaveLength(40)
})

test('the arrow keys go around, and other keys stay with the text field', () => {
  expect(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp'].map((key) => indexAfter(key, 3, 4))).toEqual([0, 2, 3, 0])
  expect([indexAfter('Home', 3, 4), indexAfter('ArrowDown', -1, 0)]).toEqual([undefined, undefined])
})
