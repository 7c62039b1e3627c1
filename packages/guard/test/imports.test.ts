import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { floors } from './floors.ts'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

it('folders import only from those below them, types included', () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((one) => floorOf(one) > floorOf(file))
      .map((one) => `${file} > ${one}`),
  )
  expect([upward, files.filter((file) => floorOf(file) === -1)]).toEqual([[], []])
})

it('the index is the only file outside of the folders', () => {
  expect(files.filter((file) => dirname(file) === '.')).toEqual(['index.ts'])
})

function floorOf(file: string): number {
  return floors.indexOf(dirname(file).split(/[\\/]/)[0] as string)
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, to]) =>
    normalize(join(dirname(file), to as string)),
  )
}
