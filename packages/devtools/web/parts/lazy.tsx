import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Views = Readonly<Record<string, unknown>>

/** Returns a function that makes a view of a script. The script loads when the first of its views is shown. */
function lazyViews<V extends Views>(load: () => Promise<V>) {
  let views: V | undefined
  return <Name extends keyof V>(name: Name): V[Name] => {
    function Lazy(props: object) {
      const [loaded, setLoaded] = useState(views)
      const [fault, setFault] = useState('')
      useEffect(() => {
        if (views !== undefined) return
        load().then(
          (module) => {
            views = module
            setLoaded(module)
          },
          ({ message }: Error) => setFault(`This view did not load. Reload the page. ${message}`),
        )
      }, [])
      if (loaded === undefined) return <p class="empty">{fault || 'Loading …'}</p>
      const View = loaded[name] as FunctionComponent<object>
      return <View {...props} />
    }
    return Lazy as V[Name]
  }
}

const view = lazyViews(() => import('../views.ts'))
export const EvalsPanel = view('EvalsPanel')
export const IdentityDialog = view('IdentityDialog')
export const ReplayPanel = view('ReplayPanel')
export const SaveCaseDialog = view('SaveCaseDialog')
export const UsagePanel = view('UsagePanel')

const lateView = lazyViews(() => import('../late-views.ts'))
export const AgentPanel = lateView('AgentPanel')
export const Palette = lateView('Palette')
export const ReadOnlyNotice = lateView('ReadOnlyNotice')
export const RecallPanel = lateView('RecallPanel')
