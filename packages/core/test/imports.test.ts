import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { floors } from './floors.ts'

const src = fileURLToPath(new URL('../src', import.meta.url))

interface Import {
  readonly from: string
  readonly to: string
}

const imports: Import[] = filesOf(src).flatMap((from) =>
  [...readFileSync(join(src, from), 'utf8').matchAll(/^(?:import|export)(?: type)?[^;]*? from '(\.[^']+)'/gms)].map(
    ([, to]) => ({
      from,
      to: normalize(join(dirname(from), to as string)),
    }),
  ),
)

describe('the folders of core', () => {
  it('import only from those below them, types included', () => {
    const wrong = imports.filter(({ from, to }) => floors.indexOf(dirname(from)) < floors.indexOf(dirname(to)))
    expect(wrong).toEqual([])
  })

  it('are all in that order', () => {
    expect([...new Set(imports.map(({ from }) => dirname(from)))].filter((dir) => !floors.includes(dir))).toEqual([])
  })

  it('have no circle of files, types included', () => {
    expect(circleAmong(imports)).toEqual([])
  })
})

function filesOf(dir: string): string[] {
  return (readdirSync(dir, { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
}

/** The files of one circle, if there is one. */
function circleAmong(edges: readonly Import[]): string[] {
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return path.slice(path.indexOf(file))
    if (done.has(file)) return []
    for (const { from, to } of edges)
      if (from === file) {
        const circle = walk(to, [...path, file])
        if (circle.length > 0) return circle
      }
    done.add(file)
    return []
  }
  for (const { from } of edges) {
    const circle = walk(from, [])
    if (circle.length > 0) return circle
  }
  return []
}
