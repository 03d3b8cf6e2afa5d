//! How the words of the domain are stored.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::domain::assessment::{Reaction, Verdict};
use crate::domain::conflict::Tier;
use crate::domain::{
    AgentStatus, ClaimStatus, ConflictStatus, Digest, Id, IntentStatus, MessageStatus, Rule, ScopeKind,
    ScopeOperation, Severity, Timestamp,
};

impl<K> ToSql for Id<K> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl<K> FromSql for Id<K> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 16]>::column_result(value).map(Self::from_bytes)
    }
}

impl ToSql for Digest {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Self::from_bytes)
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_millis()))
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self::from_millis)
    }
}

macro_rules! stored_as_code {
    ($($word:ty),+) => { $(
        impl ToSql for $word {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.code()))
            }
        }

        impl FromSql for $word {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let code = u8::column_result(value)?;
                Self::from_code(code).ok_or(FromSqlError::OutOfRange(i64::from(code)))
            }
        }
    )+ };
}
stored_as_code!(
    AgentStatus,
    ClaimStatus,
    ConflictStatus,
    IntentStatus,
    MessageStatus,
    Reaction,
    Rule,
    ScopeKind,
    ScopeOperation,
    Severity,
    Tier,
    Verdict
);
