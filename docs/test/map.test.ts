import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { floors as core } from '../../packages/core/test/floors.ts'
import { floors as guard } from '../../packages/guard/test/floors.ts'
import { floors as server } from '../../packages/server/test/floors.ts'
import { root } from './pages.ts'

const map = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

/** The folders below a package in the map of CONTRIBUTING.md, in its order. */
function foldersOf(name: string): string[] {
  const [, after = ''] = map.split(new RegExp(`^  ${name}/.*\\n`, 'm'))
  const lines = after.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('    '))
  const names = lines.slice(0, end).flatMap((line) => line.trim().split(/ {2,}/, 1)[0]?.split(' ') ?? [])
  return names.filter((one) => one.endsWith('/')).map((one) => one.slice(0, -1))
}

test.for([
  ['core/src', core],
  ['guard', guard],
  ['server', server],
] as const)('the map lists the folders of %s from the ground up', ([name, floors]) => {
  expect(foldersOf(name)).toEqual(floors.filter((one) => one !== '.'))
})
