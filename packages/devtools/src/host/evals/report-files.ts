import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EvalReport } from '@allium/evals'
import type { CaseView, EvalListItem, EvalReportView } from '../../eval-views.ts'
import { DevError } from '../dev-error.ts'
import { caseView } from './case-view.ts'
import { type Baseline, reportView } from './report-view.ts'

/** Most bytes of a report. */
const maxBytes = 64 * 1_048_576
const maxReports = 200
/** A name without separators and `..`, so that it stays in its folder. */
const namePattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/

/** The reports that `allium eval` has written in a project. */
export interface ReportFiles {
  /** Lists the reports, newest first. */
  list(): Promise<EvalListItem[]>
  /** @throws DevError */
  report(name: string): Promise<EvalReportView>
  /** @throws DevError */
  caseOf(name: string, id: string): Promise<CaseView>
}

/** Reads the reports in `.allium/evals` and their baselines in `evals`. Symbolic links are not followed. */
export function reportFiles(cwd: string): ReportFiles {
  const folder = join(cwd, '.allium', 'evals')
  const read = cachedReader()

  async function itemOf(name: string): Promise<EvalListItem> {
    const found = namePattern.test(name) ? await fileAt(join(folder, `${name}.json`)) : undefined
    if (found === undefined) throw new DevError(404, `There is no report ${JSON.stringify(name)} in .allium/evals.`)
    return { name, at: found.mtimeMs }
  }

  async function baselineOf(name: string): Promise<Baseline | undefined> {
    const file = `evals/${name}.baseline.json`
    if ((await fileAt(join(cwd, file))) === undefined) return undefined
    try {
      return { file, report: await read(join(cwd, file)) }
    } catch (error) {
      return { file, fault: (error as Error).message }
    }
  }

  return {
    async list() {
      const names = await readdir(folder).catch(() => [])
      const known = names.flatMap((name) => (name.endsWith('.json') ? name.slice(0, -5) : [])).slice(0, maxReports)
      const items = await Promise.all(known.map((name) => itemOf(name).catch(() => [])))
      return items.flat().sort((a, b) => b.at - a.at)
    },
    async report(name) {
      const item = await itemOf(name)
      return reportView(item, await read(join(folder, `${name}.json`)), await baselineOf(name))
    },
    async caseOf(name, id) {
      await itemOf(name)
      const baseline = await baselineOf(name)
      const found = caseView(await read(join(folder, `${name}.json`)), id, baseline?.report)
      if (found === undefined) throw new DevError(404, `The report "${name}" has no such case.`)
      return found
    },
  }
}

/** Returns a reader that keeps the last files, because the page asks for one case after the other. */
function cachedReader(): (path: string) => Promise<EvalReport> {
  const kept = new Map<string, { version: string; report: EvalReport }>()
  return async (path) => {
    const { size, mtimeMs } = await lstat(path)
    if (size > maxBytes)
      throw new DevError(422, `The file ${path} has ${size} bytes. The inspector shows reports of up to ${maxBytes}.`)
    const version = `${size} ${mtimeMs}`
    const known = kept.get(path)
    if (known?.version === version) return known.report
    // Most projects open no report, so this is loaded at the first one.
    const { readReport } = await import('@allium/evals')
    const report = await readReport(path).catch((error: Error) => {
      throw new DevError(422, error.message)
    })
    kept.delete(path)
    if (kept.size >= 4) kept.delete(kept.keys().next().value as string)
    kept.set(path, { version, report })
    return report
  }
}

async function fileAt(path: string) {
  const found = await lstat(path).catch(() => undefined)
  return found?.isFile() === true ? found : undefined
}
