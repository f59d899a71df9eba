-- breaking: no
-- The clock that every statement asks. Nothing else calls now() or clock_timestamp(): tests put another body here.

create function ductor.ductor_now() returns timestamptz
  language sql volatile parallel safe
  as $$ select clock_timestamp() $$;

comment on function ductor.ductor_now() is 'Database time. Tests replace the body.';

create function ductor.now_us() returns bigint
  language sql volatile parallel safe
  as $$ select (extract(epoch from ductor.ductor_now()) * 1000000)::bigint $$;

comment on function ductor.now_us() is 'Database time in microseconds since 1970.';
