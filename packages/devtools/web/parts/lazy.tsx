import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Views = typeof import('../views.ts')

let views: Views | undefined

/** Returns a view of `views.ts`, which loads when the first of them is shown. */
function lazy<Name extends keyof Views>(name: Name): Views[Name] {
  function Lazy(props: Parameters<Views[Name]>[0]) {
    const [loaded, setLoaded] = useState(views)
    const [fault, setFault] = useState('')
    useEffect(() => {
      if (views !== undefined) return
      import('../views.ts').then(
        (module) => {
          views = module
          setLoaded(module)
        },
        ({ message }: Error) => setFault(`This view did not load. Reload the page. ${message}`),
      )
    }, [])
    if (loaded === undefined) return <p class="empty">{fault || 'Loading …'}</p>
    const View = loaded[name] as FunctionComponent<object>
    return <View {...(props as object)} />
  }
  return Lazy as Views[Name]
}

export const AgentPanel = lazy('AgentPanel')
export const EvalsPanel = lazy('EvalsPanel')
export const IdentityDialog = lazy('IdentityDialog')
export const ReplayPanel = lazy('ReplayPanel')
export const SaveCaseDialog = lazy('SaveCaseDialog')
export const UsagePanel = lazy('UsagePanel')
