export const runsHelp = `Usage: allium runs <command> --store <where>
  list               runs, newest first: who holds a run and until when, its session and its age;
                     --limit <50>, --cursor <from the previous page>, and the conditions below
  summary            how many runs, and how old the oldest is, by status, agent, version and queue; failures by code
  queues             how many runs wait, run and are lost in each queue; --module <src/agent.ts> adds the limits
                     that the module exports as "queues"
  show <run>         one run with its steps
  stop <run>         stops a run at its next step
  force-stop <run>   ends a run at once, also if its process hangs; a call that it has begun goes on, unrecorded
  retry <run>        queues a failed run again
  start-again <run>  starts a new run with the request of one that failed or was aborted; --repeat-effects, if its
                     recorded tool calls may happen again
  deny <run>         denies a call that waits for approval; --call <id>, --operator <name>, --reason <text>
  migrate <run>      replays the steps of a run with the agent of a module, and moves the run to its version if they
                     fit; --to <version> --module <src/agent.ts>; --export <name of the agent>;
                     --dry-run changes nothing
  export <run>       one JSON document; with --content --operator <name> --reason <text> also the content,
                     which the audit records

  <run>              the id of a run, or its first characters, at least four
  --where <name=value>
                     for stop, force-stop, retry and migrate, in place of <run>: all runs that match; may be repeated.
                     Names: status, agent, version, queue, owner, session, tenant, code, older-than
  --yes              changes them; without it, only their number is printed
  --status, --agent, --version, --queue, --owner, --session, --code, --older-than <10m>, --where
                     the conditions of list; a status is queued, running, lost, completed, stopped, suspended,
                     blocked, aborted or failed
  --operator <name> --reason <text>
                     records a change in the audit

  --store <where>    a SQLite file, postgres://…, or a module that exports a store; default: ALLIUM_STORE
  --tenant <name>    only runs of this tenant
  --json             JSON instead of a table, with whole ids

Exit codes: 0 done, 1 failed, nothing to change, not confirmed, or not all runs were changed, 2 mistake in the command
`
