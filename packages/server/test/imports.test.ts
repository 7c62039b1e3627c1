import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { floors } from './floors.ts'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports = new Map(files.map((file) => [file, importsOf(file)]))

describe('the folders of the server', () => {
  it('import only from those below them, types included', () => {
    const floorOf = (file: string) => floors.indexOf(dirname(file))
    const upward = [...imports].flatMap(([from, to]) =>
      to.filter((one) => floorOf(one) > floorOf(from)).map((one) => `${from} > ${one}`),
    )
    expect([upward, files.filter((file) => floorOf(file) === -1)]).toEqual([[], []])
  })

  it('of a protocol import nothing from another protocol', () => {
    const protocols = 'native openai ui agui mcp'.split(' ')
    const between = [...imports].flatMap(([from, to]) =>
      to.filter((one) => protocols.includes(dirname(one)) && dirname(one) !== dirname(from)).map((one) => [from, one]),
    )
    expect(between.filter(([from = '']) => protocols.includes(dirname(from)))).toEqual([])
  })

  it('have no circle of files, types included', () => {
    expect(files.filter((file) => reachableFrom(file).has(file))).toEqual([])
  })
})

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, to]) =>
    normalize(join(dirname(file), to as string)),
  )
}

function reachableFrom(file: string): Set<string> {
  const reached = new Set<string>()
  const open = [...(imports.get(file) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return reached
}
