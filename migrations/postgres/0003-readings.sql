-- oldest program: 0.2
-- Readings as tables for whoever asks the database in SQL without lowwater, such as Grafana or Metabase. docs/storage.md says how the
-- bytes of a run are made; src/store/runs/decode-polls.ts reads the same.

-- A whole number at a place of a run, and the place after it: seven bits a byte, the lowest first.
CREATE FUNCTION lowwater_varint(run bytea, start integer, OUT value bigint, OUT next integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  piece integer;
  shift integer := 0;
BEGIN
  value := 0;
  next := start;
  LOOP
    piece := get_byte(run, next);
    next := next + 1;
    value := value | ((piece & 127)::bigint << shift);
    EXIT WHEN piece < 128;
    shift := shift + 7;
  END LOOP;
END $$;

-- A text at a place of a run, in units of UTF-16, and the place after it. What PostgreSQL cannot hold is U+FFFD.
CREATE FUNCTION lowwater_text(run bytea, start integer, OUT value text, OUT next integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  units bigint;
  unit bigint;
  high bigint;
BEGIN
  value := '';
  SELECT v.value, v.next INTO units, next FROM lowwater_varint(run, start) v;
  FOR nth IN 1 .. units LOOP
    SELECT v.value, v.next INTO unit, next FROM lowwater_varint(run, next) v;
    IF high IS NOT NULL AND unit BETWEEN 56320 AND 57343 THEN
      value := value || chr((65536 + ((high - 55296) << 10) + unit - 56320)::integer);
      high := NULL;
      CONTINUE;
    END IF;
    IF high IS NOT NULL THEN value := value || chr(65533); END IF;
    high := CASE WHEN unit BETWEEN 55296 AND 56319 THEN unit END;
    IF high IS NULL THEN
      value := value || chr(CASE WHEN unit = 0 OR unit BETWEEN 56320 AND 57343 THEN 65533 ELSE unit END::integer);
    END IF;
  END LOOP;
  IF high IS NOT NULL THEN value := value || chr(65533); END IF;
END $$;

-- zlib's CRC-32 of the bytes of a run from a place on.
CREATE FUNCTION lowwater_crc32(run bytea, start integer) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  steps constant bigint[] := '{0,498536548,997073096,651767980,1994146192,1802195444,1303535960,1342533948,
    3988292384,4027552580,3604390888,3412177804,2607071920,2262029012,2685067896,3183342108}';
  crc bigint := 4294967295;
BEGIN
  FOR place IN start .. length(run) - 1 LOOP
    crc := crc # get_byte(run, place);
    crc := steps[(crc & 15) + 1] # (crc >> 4);
    crc := steps[(crc & 15) + 1] # (crc >> 4);
  END LOOP;
  RETURN crc # 4294967295;
END $$;

-- The polls of a run, none of one that does not match its checksum. `at` in milliseconds since 1970; `amounts` in millionths, in the order of
-- `ids`; both null for a poll that failed.
CREATE FUNCTION lowwater_run(run bytea)
RETURNS TABLE (at bigint, outcome text, ids text[], amounts bigint[], currency text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  outcomes constant text[] :=
    '{rate_limited,auth_failed,api_error,invalid_response,http_error,timeout,network_error}';
  version constant integer := CASE WHEN length(run) = 0 THEN 0 ELSE get_byte(run, 0) END;
  place integer := CASE version WHEN 1 THEN 1 ELSE 5 END;
  polls integer := 0;
  instant bigint := 0;
  step bigint := 0;
  control integer;
  code integer;
  number bigint;
  listed_ids jsonb[] := '{}';
  listed_currencies text[] := '{}';
  shape_ids text[] := CASE version WHEN 1 THEN '{sms,voip}'::text[] END;
  shape_currency text;
  word text;
  last_amounts bigint[] := '{}';
  moves_at integer;
  move integer;
BEGIN
  IF version NOT IN (1, 2) OR length(run) < place THEN RETURN; END IF;
  IF version = 2 AND lowwater_crc32(run, 5) <> get_byte(run, 1) + (get_byte(run, 2) << 8) + (get_byte(run, 3) << 16)
    + (get_byte(run, 4)::bigint << 24) THEN RETURN; END IF;
  WHILE place < length(run) LOOP
    control := get_byte(run, place);
    SELECT v.value, v.next INTO number, place FROM lowwater_varint(run, place + 1) v;
    number := CASE WHEN number & 1 = 0 THEN number >> 1 ELSE -((number + 1) >> 1) END;
    IF polls > 0 THEN step := step + number; END IF;
    instant := CASE WHEN polls = 0 THEN number ELSE instant + step END;
    polls := polls + 1;
    at := instant;
    code := CASE WHEN version = 1 THEN control & 7 WHEN control & 1 = 1 THEN control >> 1 ELSE 0 END;
    IF code > 0 THEN
      outcome := coalesce(outcomes[code], 'outcome ' || code);
      ids := NULL;
      amounts := NULL;
      currency := NULL;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF version = 2 AND control & 2 = 2 THEN
      SELECT v.value, v.next INTO number, place FROM lowwater_varint(run, place) v;
      IF number = cardinality(listed_ids) THEN
        shape_ids := '{}';
        SELECT v.value, v.next INTO number, place FROM lowwater_varint(run, place) v;
        FOR nth IN 1 .. number LOOP
          SELECT t.value, t.next INTO word, place FROM lowwater_text(run, place) t;
          shape_ids := shape_ids || word;
        END LOOP;
        SELECT t.value, t.next INTO shape_currency, place FROM lowwater_text(run, place) t;
        listed_ids := listed_ids || to_jsonb(shape_ids);
        listed_currencies := listed_currencies || shape_currency;
      ELSE
        shape_ids := ARRAY(SELECT jsonb_array_elements_text(listed_ids[number + 1]));
        shape_currency := listed_currencies[number + 1];
      END IF;
    END IF;
    moves_at := place;
    IF version = 2 THEN place := place + (greatest(cardinality(shape_ids) - 3, 0) + 3) / 4; END IF;
    FOR nth IN 0 .. cardinality(shape_ids) - 1 LOOP
      move := 3 & CASE
        WHEN version = 1 THEN control >> (3 + 2 * nth)
        WHEN nth < 3 THEN control >> (2 + 2 * nth)
        ELSE get_byte(run, moves_at + (nth - 3) / 4) >> (2 * ((nth - 3) % 4))
      END;
      code := 0;
      IF move = 3 THEN
        code := get_byte(run, place);
        place := place + 1;
      END IF;
      IF move > 0 THEN SELECT v.value, v.next INTO number, place FROM lowwater_varint(run, place) v; END IF;
      last_amounts[nth + 1] := CASE move
        WHEN 0 THEN coalesce(last_amounts[nth + 1], 0)
        WHEN 1 THEN coalesce(last_amounts[nth + 1], 0) + number
        WHEN 2 THEN coalesce(last_amounts[nth + 1], 0) - number
        ELSE CASE code WHEN 1 THEN -number ELSE number END
      END;
    END LOOP;
    IF version = 1 AND control >= 128 THEN
      SELECT v.value, v.next INTO number, place FROM lowwater_varint(run, place) v;
      IF number = cardinality(listed_currencies) THEN
        SELECT t.value, t.next INTO word, place FROM lowwater_text(run, place) t;
        listed_currencies := listed_currencies || word;
      END IF;
      shape_currency := listed_currencies[number + 1];
    END IF;
    outcome := 'ok';
    ids := shape_ids;
    amounts := last_amounts[1:cardinality(shape_ids)];
    currency := shape_currency;
    RETURN NEXT;
  END LOOP;
END $$;

-- Every poll of one account in a span, `since` included and `until` not; null is open. Only the runs of that span are opened.
CREATE FUNCTION lowwater_polls(of_account text, since timestamptz, until timestamptz)
RETURNS TABLE (at timestamptz, outcome text, ids text[], amounts bigint[], currency text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  WITH span AS (
    SELECT coalesce(floor(extract(epoch FROM since) * 1000)::bigint, -9007199254740991) AS first,
      coalesce(ceil(extract(epoch FROM until) * 1000)::bigint, 9007199254740991) AS last
  )
  SELECT to_timestamp(poll.at / 1000.0), poll.outcome, poll.ids, poll.amounts, poll.currency
  FROM span CROSS JOIN account CROSS JOIN LATERAL (
    SELECT data FROM segment WHERE account_no = account.no AND latest_at >= span.first AND earliest_at < span.last
    UNION ALL SELECT tail WHERE tail IS NOT NULL
  ) AS run CROSS JOIN LATERAL lowwater_run(run.data) AS poll
  WHERE account.id = of_account AND poll.at >= span.first AND poll.at < span.last
$$;

CREATE FUNCTION poll_of(of_account text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (at timestamptz, outcome text) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT at, outcome FROM lowwater_polls(of_account, since, until)
$$;

CREATE FUNCTION balance_of(of_account text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (at timestamptz, balance text, amount numeric, currency text) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT at, one.id, round(one.amount / 1000000.0, 6), currency
  FROM lowwater_polls(of_account, since, until) CROSS JOIN LATERAL unnest(ids, amounts) AS one(id, amount)
$$;

CREATE FUNCTION reading_of(of_account text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (at timestamptz, sms numeric, voip numeric, currency text) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT at, round(amounts[1] / 1000000.0, 6), round(amounts[2] / 1000000.0, 6), currency
  FROM lowwater_polls(of_account, since, until) WHERE ids = '{sms,voip}'
$$;

CREATE VIEW poll AS SELECT account.id AS account, its.* FROM account CROSS JOIN LATERAL poll_of(account.id) AS its;
CREATE VIEW balance AS SELECT account.id AS account, its.* FROM account CROSS JOIN LATERAL balance_of(account.id) AS its;
CREATE VIEW reading AS SELECT account.id AS account, its.* FROM account CROSS JOIN LATERAL reading_of(account.id) AS its;
