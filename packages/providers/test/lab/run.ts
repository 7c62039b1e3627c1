import { formats } from './formats/index.ts'
import { createLab } from './lab.ts'
import { installedName, type ProviderPackage, type Row, type Version } from './row.ts'
import { scenarios } from './scenarios/index.ts'
import type { startServer } from './server.ts'

/** What came of each scenario: `right`, `none` where the format has no such thing, or what is wrong. */
export type Cells = Record<string, string>

type Server = Awaited<ReturnType<typeof startServer>>

/** Runs every scenario with one version of a package. */
export async function runRow(
  row: Row,
  version: Version,
  server: Server,
  load: (name: string) => Promise<ProviderPackage>,
  only: (scenario: string) => boolean = () => true,
): Promise<Cells> {
  const from = await load(installedName(row, version))
  const format = formats.find(({ name }) => name === row.format)
  if (format === undefined)
    throw new Error(`The row ${row.name} names the format ${row.format}, which formats/index.ts does not have.`)
  const lab = createLab(
    format,
    (...replies) => server.script(row.format, ...replies),
    (url) => row.model(from, url),
  )
  const cells: Cells = {}
  for (const { name, applies = () => true, run } of scenarios) {
    if (!only(name)) continue
    cells[name] = applies(format) ? await quietly(() => withDeadline(run(lab))) : 'none'
  }
  return cells
}

/** Without what packages print about events that they cannot read. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { warn, error, log } = console
  console.warn = console.error = console.log = () => {}
  try {
    return await run()
  } finally {
    Object.assign(console, { warn, error, log })
  }
}

async function withDeadline(scenario: Promise<string | undefined>): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no end after 20 seconds'), 20_000)
  })
  try {
    return await Promise.race([scenario.then((fault) => plain(fault ?? 'right')), deadline])
  } catch (error) {
    return plain(`the scenario itself failed: ${error instanceof Error ? error.message : error}`)
  } finally {
    clearTimeout(timer)
  }
}

/** Without the port of the server and ids of a package's own making, which differ in each run. */
function plain(text: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+\/[\w-]+\/s\d+/g, 'SERVER')
    .replace(/"[A-Za-z0-9]{16}"/g, 'ID')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 200)
}
