import { useEffect, useState } from 'preact/hooks'
import type { RecallView } from '../../src/child/recall-route.ts'
import { api } from '../store/api.ts'
import type { SessionItem } from '../store/sessions.ts'
import type { TurnRecall } from './recalls.ts'

/** A recall with the texts that its passages have now. */
export interface LoadedRecall {
  readonly view?: RecallView
  readonly fault?: string
}

/** Loads what was recalled, once. */
export function useRecall({ tenant, owner }: Pick<SessionItem, 'tenant' | 'owner'>, recall: TurnRecall): LoadedRecall {
  const [loaded, setLoaded] = useState<LoadedRecall>({})
  const { layer, question, places } = recall
  const body = JSON.stringify({ tenant, owner, layer, question, places })
  useEffect(() => {
    let isShown = true
    setLoaded({})
    api<RecallView>('/inspector/recall', undefined, JSON.parse(body)).then(
      (view) => isShown && setLoaded({ view }),
      ({ message }: Error) => isShown && setLoaded({ fault: message }),
    )
    return () => {
      isShown = false
    }
  }, [body])
  return loaded
}
