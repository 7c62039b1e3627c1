import { useState } from 'react'
import { ask } from '../shared/api.ts'
import { denials } from '../shared/denials.ts'
import { Name } from '../shared/name.tsx'
import { sentenceOf } from '../shared/problems.ts'
import { Fields, toolLabel } from '../shared/tool-values.tsx'
import type { Decidable, Waiting } from './approvals.tsx'
import { useRefresh } from './live.tsx'
import { timeOf } from './panel.tsx'
import type { SessionKey } from './sessions.tsx'

export interface RequestProps {
  call: Waiting
  /** When its session was suspended; undefined for an old session. */
  since: number | undefined
  decidable: Decidable | undefined
  show(key: SessionKey): void
}

/** A pending call. An admin who may decide it sees its arguments. */
export function Request({ call: { key, name }, since, decidable, show }: RequestProps) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const refresh = useRefresh()
  const token = decidable?.token
  const decide = async (decision: object) => {
    setBusy(true)
    setProblem(undefined)
    await ask('/api/approvals', { body: { token, ...decision } }).catch((error) => {
      setProblem(sentenceOf(error))
      setBusy(false)
    })
    refresh()
  }
  return (
    <div className="request">
      <p>
        <strong>
          <Name of={toolLabel(name)} />
        </strong>{' '}
        <span className="quiet">
          for <Name of={key.owner} />
          {since !== undefined && `, ${timeOf(since)}`}
        </span>{' '}
        <button type="button" className="plain" onClick={() => show(key)}>
          Show its turns
        </button>
      </p>
      {token === undefined ? (
        <p className="quiet">The owner or an admin of their company decides this.</p>
      ) : (
        <>
          <Fields of={decidable?.args} />
          <div className="decide">
            <button type="button" className="primary" disabled={isBusy} onClick={() => decide({ approve: true })}>
              Approve
            </button>
            <button type="button" disabled={isBusy} onClick={() => decide({ deny: denials.byAdmin })}>
              Deny
            </button>
          </div>
        </>
      )}
      {problem && (
        <p className="error-text" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
