import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const src = new URL('../src/', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, src), 'utf8')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The rows of the table in host.ts: the file and the function of each family of routes, and the records that it takes. */
const rows = [...read('host/host.ts').matchAll(/^ \* \| (?!routes)[^|-][^|]* \| (\S+) \| (\w+) \| ([^|]+) \|$/gm)]
const table = rows.map(([, file = '', name = '', records = '']) => ({ file, name, records: records.split(', ') }))

it('the table of routes names the records that each function takes', () => {
  expect(table.length).toBeGreaterThan(10)
  expect(table.map(({ file, name }) => ({ file, name, records: recordsOf(file, name) }))).toEqual(table)
})

it('the table has every function that adds routes', () => {
  const added = files.flatMap((file) =>
    [...read(file).matchAll(/^(?:export )?function (\w+Routes)\(\s*\w+: (?:Serve|Router),\s+host:/gm)].map(
      ([, name]) => `${file} ${name}`,
    ),
  )
  const parts = ['inspect/read-only-routes.ts copyRoute']
  const listed = table.map(({ file, name }) => `${file} ${name}`)
  expect(added.filter((one) => !listed.includes(one) && !parts.includes(one))).toEqual([])
})

function recordsOf(file: string, name: string): string[] {
  const [, after = ''] = read(file).split(`function ${name}(`)
  const [, type = ''] = /\bhost: ([\w&<>', ]+?)(?:,? \w+:|,\n|\))/.exec(after) ?? []
  return type.split(' & ').map((record) => (record === "Pick<Host, 'options'>" ? 'options' : record))
}
