import { useEffect, useState } from 'preact/hooks'
import type { CaseView, EvalListItem, EvalReportView } from '../../src/eval-views.ts'
import { devApi } from '../store/dev-api.ts'
import { live } from '../store/store.ts'

/** The data of a request, or why it failed. Both are undefined while it loads for the first time. */
interface Loaded<T> {
  data?: T | undefined
  fault?: string | undefined
}

/** Loads a path, and again when a report was written. The old data stays until the new data has arrived. */
function useDev<T>(path: string | undefined): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { path?: string | undefined }>({})
  useEffect(() => {
    if (path === undefined) return
    let isShown = true
    const show = (next: Loaded<T>) => isShown && setLoaded({ path, ...next })
    devApi<T>(path).then(
      (data) => show({ data }),
      ({ message }: Error) => show({ fault: message }),
    )
    return () => {
      isShown = false
    }
  }, [path, live.evalsAt])
  return loaded.path === path ? loaded : {}
}

export function useReports(): Loaded<{ reports: EvalListItem[] }> {
  return useDev('/evals')
}

export function useReport(name: string | undefined): Loaded<EvalReportView> {
  return useDev(name === undefined ? undefined : `/evals/report?name=${encodeURIComponent(name)}`)
}

export function useCase(name: string, id: string): Loaded<CaseView> {
  return useDev(`/evals/case?name=${encodeURIComponent(name)}&id=${encodeURIComponent(id)}`)
}
