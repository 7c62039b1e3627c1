import { useState } from 'preact/hooks'
import type { EvalReportView } from '../../src/eval-views.ts'
import { clock, count, pretty } from '../parts/format.ts'
import { CaseDetails } from './case-details.tsx'
import { CaseTable } from './case-table.tsx'
import { useReport, useReports } from './use-evals.ts'
import { gateWords } from './words.ts'

/** The reports of `allium eval`: their gates, their cases, and the runs of a case beside the baseline. */
export function EvalsPanel() {
  const { data, fault } = useReports()
  const [chosen, setChosen] = useState<string>()
  const [selected, setSelected] = useState<string>()
  const reports = data?.reports ?? []
  const item = reports.find(({ name }) => name === chosen) ?? reports[0]
  const { data: report, fault: reportFault } = useReport(item?.name)
  const problem = fault ?? reportFault
  if (data !== undefined && item === undefined) return <NoReports />
  return (
    <div class="panel-body">
      <div class="toolbar">
        <label>
          Report{' '}
          <select
            value={item?.name}
            onChange={({ currentTarget }) => {
              setChosen(currentTarget.value)
              setSelected(undefined)
            }}
          >
            {reports.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {report !== undefined && <ReportFacts report={report} />}
      </div>
      {problem !== undefined && (
        <p class="fault" role="alert">
          {pretty(problem)}
        </p>
      )}
      {report !== undefined && (
        <div class={selected === undefined ? 'onion' : 'onion split'}>
          <div class="scrolls" tabIndex={0} role="group" aria-label="Report">
            <Gates report={report} />
            <CaseTable report={report} selected={selected} select={setSelected} />
          </div>
          {selected !== undefined && (
            <CaseDetails key={selected} name={report.name} id={selected} close={() => setSelected(undefined)} />
          )}
        </div>
      )}
    </div>
  )
}

function NoReports() {
  return (
    <div class="empty">
      <p>There are no reports of evals in .allium/evals.</p>
      <p>
        Run <code>npx allium eval</code>. It runs the files <code>evals/*.eval.ts</code> and writes a report for each
        one. The reports appear here. To begin with a case, choose "Save as eval case" below a turn.
      </p>
    </div>
  )
}

function ReportFacts({ report }: { report: EvalReportView }) {
  const { verdict, agent, version, cases, trials, at, baseline, baselineFault } = report
  return (
    <>
      {verdict !== undefined && <span class={`badge ${verdict}`}>{verdict}</span>}
      <span>{`${pretty(agent)}${version === undefined ? '' : ` ${pretty(version)}`}`}</span>
      <span>{`${count(cases.length, 'case')}, ${count(trials, 'trial')} each`}</span>
      <span>{`written at ${clock(at)}`}</span>
      <span>{baseline === undefined ? 'no baseline' : `beside ${baseline}`}</span>
      {baselineFault !== undefined && <span class="reason">{pretty(baselineFault)}</span>}
    </>
  )
}

function Gates({ report: { gates } }: { report: EvalReportView }) {
  if (gates.length === 0) return <p>This report has no gates.</p>
  return (
    <ul class="gates" aria-label="Gates">
      {gates.map((gate, index) => {
        const { condition, result } = gateWords(gate)
        return (
          <li key={index}>
            <span class={`badge ${gate.verdict}`}>{gate.verdict}</span> <strong>{pretty(gate.scorer)}</strong>{' '}
            {condition}
            <span class="subject">{` ${result}`}</span>
            <div class="subject">{pretty(gate.reason)}</div>
          </li>
        )
      })}
    </ul>
  )
}
