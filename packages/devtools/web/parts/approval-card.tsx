import { useState } from 'preact/hooks'
import type { PendingCall } from '../store/sessions.ts'
import { pretty } from './format.ts'

export type Decide = (call: PendingCall, decision: object) => Promise<void>

/** A call that waits for a decision: approve it, deny it with a reason, or approve it with other arguments. */
export function ApprovalCard({ call, decide }: { call: PendingCall; decide: Decide }) {
  const [args, setArgs] = useState(() => pretty(call.args))
  const [reason, setReason] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState('')
  const send = async (make: () => object) => {
    setFault('')
    try {
      const decision = make()
      setBusy(true)
      await decide(call, decision)
    } catch (error) {
      setFault((error as Error).message)
    }
    setBusy(false)
  }
  const approve = () => (args === pretty(call.args) ? { approve: true } : { args: JSON.parse(args) as object })
  if (call.client === true) return <ClientCallCard call={call} send={send} />
  return (
    <section class="card approval" aria-label={`Approval of ${call.name}`}>
      <h2>
        <span class="tool-name">{call.name}</span> waits for approval
      </h2>
      <label>
        Arguments
        <textarea
          rows={4}
          value={args}
          onInput={({ currentTarget }) => setArgs(currentTarget.value)}
          spellcheck={false}
        />
      </label>
      <div class="row">
        <button type="button" class="primary" disabled={isBusy} onClick={() => send(approve)}>
          Approve
        </button>
        <input
          aria-label="Reason for a denial"
          placeholder="Reason"
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <button
          type="button"
          disabled={isBusy}
          onClick={() => send(() => ({ deny: reason || 'Denied in the inspector.' }))}
        >
          Deny
        </button>
      </div>
      {fault !== '' && <p role="alert">{fault}</p>}
    </section>
  )
}

function ClientCallCard({ call, send }: { call: PendingCall; send: (make: () => object) => Promise<void> }) {
  const [result, setResult] = useState('')
  return (
    <section class="card approval" aria-label={`Result of ${call.name}`}>
      <h2>
        <span class="tool-name">{call.name}</span> runs in the client. Enter its result.
      </h2>
      <pre>{pretty(call.args)}</pre>
      <textarea
        aria-label="Result"
        rows={3}
        value={result}
        onInput={({ currentTarget }) => setResult(currentTarget.value)}
      />
      <button type="button" class="primary" onClick={() => send(() => ({ result }))}>
        Send result
      </button>
    </section>
  )
}
