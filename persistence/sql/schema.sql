CREATE TABLE actors (
  id text not null primary key constraint actor_id_is_not_empty check (id <> ''),
  revision integer not null constraint revision_is_positive check (revision >= 1),
  machine_id text not null,
  machine_version text not null,
  definition_digest blob not null constraint digest_is_32_bytes check (length(definition_digest) = 32),
  status text not null constraint actor_status_is_known check (status in ('active', 'done', 'error', 'stopped', 'faulted')),
  parent text,
  child_key text,
  system_id text,
  root text not null,
  created_at_ms integer not null,
  updated_at_ms integer not null,
  snapshot text not null,
  constraint child_has_parent_and_key check ((parent is null) = (child_key is null)),
  constraint only_a_root_is_its_own_root check ((parent is null) = (root = id))
) strict;

CREATE INDEX actors_by_created on actors (created_at_ms, id);

CREATE INDEX actors_by_machine on actors (machine_id, created_at_ms, id);

CREATE INDEX actors_by_parent on actors (parent, created_at_ms, id) where parent is not null;

CREATE INDEX actors_by_root on actors (root, created_at_ms, id);

CREATE INDEX actors_by_status on actors (status, created_at_ms, id);

CREATE UNIQUE INDEX one_active_actor_per_system_id on actors (root, system_id) where status = 'active' and system_id is not null;

CREATE UNIQUE INDEX one_active_child_per_key on actors (parent, child_key) where status = 'active' and parent is not null;

CREATE TABLE blobs (
  hash blob not null primary key constraint hash_is_32_bytes check (length(hash) = 32),
  bytes blob not null
) strict;

CREATE TABLE decisions (
  id text not null primary key,
  run text not null,
  node text not null,
  visit text not null,
  state text not null constraint decision_state_is_known check (state in ('open', 'accepted', 'defaulted', 'cancelled', 'expired')),
  code text not null constraint code_is_not_empty check (code <> ''),
  title text not null,
  audience text not null,
  deadline_at_ms integer,
  default_choice text,
  choice text,
  created_at_ms integer not null,
  settled_at_ms integer,
  constraint a_default_has_a_deadline check (default_choice is null or deadline_at_ms is not null),
  constraint only_an_answered_decision_has_a_choice check ((choice is not null) = (state in ('accepted', 'defaulted'))),
  constraint only_an_open_decision_is_unsettled check ((settled_at_ms is null) = (state = 'open'))
) strict;

CREATE INDEX decisions_by_code on decisions (code, created_at_ms, id);

CREATE INDEX decisions_by_created on decisions (created_at_ms, id);

CREATE INDEX decisions_by_run on decisions (run, created_at_ms, id);

CREATE INDEX decisions_by_state on decisions (state, created_at_ms, id);

CREATE UNIQUE INDEX one_open_decision_per_code on decisions (code) where state = 'open';

CREATE TRIGGER one_resolution_per_decision before update on decisions
when old.state <> 'open' and (new.state <> old.state or new.choice is not old.choice or new.settled_at_ms <> old.settled_at_ms)
begin
  select raise(abort, 'one_resolution_per_decision');
end;

CREATE TABLE effects (
  key text not null primary key,
  actor text not null references actors (id),
  root text not null,
  invoke_id text,
  type text not null,
  visit text,
  idempotency_key text not null,
  state text not null constraint effect_state_is_known check (state in ('planned', 'attempting', 'confirmed', 'failed', 'ambiguous', 'dropped')),
  attempt integer not null constraint attempt_is_positive check (attempt >= 1),
  interruptions integer not null constraint interruptions_are_counted check (interruptions >= 0 and interruptions <= attempt),
  once integer not null constraint once_is_a_flag check (once in (0, 1)),
  policy text not null,
  input_json text,
  input_blob blob references blobs (hash),
  fingerprint blob not null constraint fingerprint_is_32_bytes check (length(fingerprint) = 32),
  output_json text,
  output_blob blob references blobs (hash),
  error_reason text,
  error_message text,
  process_pgid integer,
  process_start_token text,
  not_before_ms integer,
  created_at_ms integer not null,
  updated_at_ms integer not null,
  ambiguous_since_ms integer,
  constraint input_is_stored_once check ((input_json is null) <> (input_blob is null)),
  constraint output_is_stored_once check (output_json is null or output_blob is null),
  constraint only_a_confirmed_effect_has_output check (state = 'confirmed' or (output_json is null and output_blob is null)),
  constraint error_has_reason_and_message check ((error_reason is null) = (error_message is null)),
  constraint process_has_pgid_and_token check ((process_pgid is null) = (process_start_token is null)),
  constraint ambiguous_says_since_when check ((state = 'ambiguous') = (ambiguous_since_ms is not null))
) strict;

CREATE INDEX effects_ambiguous on effects (created_at_ms, key) where state = 'ambiguous';

CREATE INDEX effects_by_actor on effects (actor, created_at_ms, key);

CREATE INDEX effects_by_created on effects (created_at_ms, key);

CREATE INDEX effects_by_input_blob on effects (input_blob) where input_blob is not null;

CREATE INDEX effects_by_output_blob on effects (output_blob) where output_blob is not null;

CREATE INDEX effects_by_root on effects (root, created_at_ms, key);

CREATE INDEX effects_open on effects (key) where state in ('planned', 'attempting');

CREATE INDEX effects_open_by_actor on effects (actor, created_at_ms, key) where state in ('planned', 'attempting');

CREATE UNIQUE INDEX one_effect_per_visit on effects (visit) where visit is not null;

CREATE TABLE inbox (
  actor text not null,
  event_id text not null,
  fingerprint blob not null constraint fingerprint_is_32_bytes check (length(fingerprint) = 32),
  receipt text not null,
  event_json text,
  event_blob blob references blobs (hash),
  at_ms integer not null,
  primary key (actor, event_id),
  constraint event_is_stored_once check (event_json is null or event_blob is null)
) strict, without rowid;

CREATE INDEX inbox_by_blob on inbox (event_blob) where event_blob is not null;

CREATE TABLE journal (
  seq integer primary key,
  actor text not null references actors (id),
  revision integer not null,
  event_id text not null,
  type text not null,
  payload_json text,
  payload_blob blob references blobs (hash),
  at_ms integer not null,
  cause_seq integer constraint cause_comes_first check (cause_seq < seq),
  machine_version text not null,
  definition_digest blob not null constraint digest_is_32_bytes check (length(definition_digest) = 32),
  state_value text not null,
  context_hash blob not null constraint context_hash_is_32_bytes check (length(context_hash) = 32),
  snapshot text,
  constraint payload_is_stored_once check (payload_json is null or payload_blob is null)
) strict;

CREATE INDEX journal_by_blob on journal (payload_blob) where payload_blob is not null;

CREATE UNIQUE INDEX one_journal_row_per_revision on journal (actor, revision);

CREATE TABLE meta (
  id integer primary key constraint meta_is_one_row check (id = 1),
  last_at_ms integer not null,
  last_seq integer not null,
  -- Raised by each owner as it opens, so that one that lost its lock cannot write beside the next.
  owner_generation integer not null default 0
) strict;

CREATE TABLE runs (
  id text not null primary key,
  workflow text not null,
  source_digest blob not null constraint source_digest_is_32_bytes check (length(source_digest) = 32),
  graph_digest blob not null constraint graph_digest_is_32_bytes check (length(graph_digest) = 32),
  state text not null constraint run_state_is_known check (state in ('queued', 'starting', 'running', 'pausing', 'paused', 'held', 'waiting', 'ambiguous', 'blocked', 'completed', 'failed', 'timedOut', 'cancelled')),
  session text,
  reserves integer not null constraint reserves_is_a_flag check (reserves in (0, 1)),
  reason text,
  input_json text,
  input_blob blob references blobs (hash),
  created_at_ms integer not null,
  updated_at_ms integer not null,
  ended_at_ms integer,
  constraint reservation_names_a_session check (reserves = 0 or session is not null),
  constraint only_a_moving_run_reserves check (reserves = 0 or state in ('queued', 'starting', 'running', 'pausing', 'held')),
  constraint run_input_is_stored_once check ((input_json is null) <> (input_blob is null)),
  constraint only_a_finished_run_has_ended check ((ended_at_ms is not null) = (state in ('completed', 'failed', 'timedOut', 'cancelled')))
) strict;

CREATE UNIQUE INDEX one_reservation_per_session on runs (session) where reserves = 1;

CREATE INDEX runs_by_blob on runs (input_blob) where input_blob is not null;

CREATE INDEX runs_by_created on runs (created_at_ms, id);

CREATE INDEX runs_by_session on runs (session, created_at_ms, id) where session is not null;

CREATE INDEX runs_by_state on runs (state, created_at_ms, id);

CREATE INDEX runs_by_workflow on runs (workflow, created_at_ms, id);

CREATE TRIGGER a_finished_run_is_final before update on runs
when old.ended_at_ms is not null and (new.state <> old.state or new.ended_at_ms <> old.ended_at_ms)
begin
  select raise(abort, 'a_finished_run_is_final');
end;

CREATE TABLE timers (
  actor text not null references actors (id),
  key text not null,
  due_at_ms integer not null,
  to_actor text not null,
  event text not null,
  revision integer not null,
  primary key (actor, key)
) strict, without rowid;

CREATE INDEX timers_by_due on timers (due_at_ms, actor, key);

CREATE TABLE updates (
  id text not null primary key,
  run text not null,
  type text not null,
  key text not null,
  visit text not null,
  revision integer not null constraint update_revision_is_positive check (revision >= 1),
  data text not null constraint update_data_are_bounded check (octet_length(data) <= 65536),
  basis text,
  created_at_ms integer not null,
  updated_at_ms integer not null,
  constraint update_is_named_by_run_type_and_key check (id = run || '/' || type || '/' || key)
) strict;

CREATE INDEX updates_by_created on updates (created_at_ms, id);

CREATE INDEX updates_by_run on updates (run, created_at_ms, id);

CREATE TRIGGER at_most_1024_updates_per_run before insert on updates
when not exists (select 1 from updates where id = new.id) and (select count(*) from updates where run = new.run) >= 1024
begin
  select raise(abort, 'at_most_1024_updates_per_run');
end;
