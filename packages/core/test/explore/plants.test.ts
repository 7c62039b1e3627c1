import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { plants } from './plants.ts'

const source = (file: string) => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')

it('each of the hundred planted bugs finds its place once in the centre', () => {
  const lost = plants.filter(({ file, from }) => source(file).split(from).length !== 2)
  expect(lost.map(({ file, breaks }) => `${file}: ${breaks}`)).toEqual([])
  expect(plants).toHaveLength(100)
})
