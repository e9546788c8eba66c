use std::path::PathBuf;

use url::Url;

use super::{ConfigError, DirectoryConfig, Secret, Settings, parse};

const BACKEND: &str = "POLYMNEMO_BLOB_BACKEND";
const BUCKET: &str = "POLYMNEMO_BLOB_BUCKET";
const REGION: &str = "POLYMNEMO_BLOB_REGION";
const ENDPOINT: &str = "POLYMNEMO_BLOB_ENDPOINT_URL";
const PUBLIC_ENDPOINT: &str = "POLYMNEMO_BLOB_PUBLIC_ENDPOINT_URL";
const KEY_ID: &str = "POLYMNEMO_BLOB_ACCESS_KEY_ID";
const KEY: &str = "POLYMNEMO_BLOB_SECRET_ACCESS_KEY";
const PATH_STYLE: &str = "POLYMNEMO_BLOB_PATH_STYLE";
const MAX: &str = "POLYMNEMO_BLOB_MAX_BYTES";
const QUOTA: &str = "POLYMNEMO_BLOB_QUOTA_BYTES";

/// What only a service that speaks S3 has.
const ONLY_S3: [&str; 7] = [BUCKET, REGION, ENDPOINT, PUBLIC_ENDPOINT, KEY_ID, KEY, PATH_STYLE];

const GIB: u64 = 1 << 30;
/// The greatest length of an object that S3 takes in one request, and copies in one.
const MOST_BYTES: u64 = 5 * GIB;

/// Where files are kept.
#[derive(Debug, Clone)]
pub struct FilesConfig {
    /// The storage.
    pub storage: FileStorageConfig,
    /// The greatest length of a file in bytes.
    pub max_bytes: u64,
    /// The greatest length of all files together, in bytes.
    pub quota_bytes: Option<u64>,
}

/// A storage for files.
#[derive(Debug, Clone)]
pub enum FileStorageConfig {
    /// None: no files are kept.
    None,
    /// A folder.
    Local(PathBuf),
    /// A service that speaks S3.
    S3(S3Config),
}

/// A service that speaks S3.
#[derive(Debug, Clone)]
pub struct S3Config {
    /// The bucket.
    pub bucket: String,
    /// Its region.
    pub region: String,
    /// The service, unless it is that of AWS.
    pub endpoint_url: Option<String>,
    /// The same service as clients reach it, where that is another address.
    pub public_endpoint_url: Option<String>,
    /// The id of the access key.
    pub access_key_id: Secret,
    /// The access key.
    pub secret_access_key: Secret,
    /// Whether the bucket is in the path of URLs instead of their host.
    pub path_style: bool,
}

impl FilesConfig {
    pub(super) fn from_settings(settings: &Settings, directories: &DirectoryConfig) -> Result<Self, ConfigError> {
        let (storage, quota) = match settings.get(BACKEND).unwrap_or("local") {
            "none" => (FileStorageConfig::None, None),
            "local" => (FileStorageConfig::Local(directories.data.join("blobs")), Some(50 * GIB)),
            "s3" => (FileStorageConfig::S3(S3Config::from_settings(settings)?), None),
            other => {
                return Err(ConfigError::new(BACKEND, format!("`{other}` is no storage; give local, s3 or none")));
            }
        };
        if !matches!(storage, FileStorageConfig::S3(_))
            && let Some(variable) = ONLY_S3.into_iter().find(|variable| settings.get(variable).is_some())
        {
            return Err(ConfigError::new(
                variable,
                format!("only has a meaning with {BACKEND}=s3; set that, or take this away"),
            ));
        }
        let bytes = "a number of bytes; give digits only, 1073741824 is a GiB";
        let max_bytes = parse(settings, MAX, bytes)?.unwrap_or(GIB);
        if !(1..=MOST_BYTES).contains(&max_bytes) {
            return Err(ConfigError::new(
                MAX,
                format!("{max_bytes} is out of range; give a number from 1 to {MOST_BYTES}"),
            ));
        }
        let quota_bytes: Option<u64> = parse(settings, QUOTA, bytes)?.or(quota);
        if quota_bytes == Some(0) {
            return Err(ConfigError::new(
                QUOTA,
                format!("with 0 nothing could be kept; {BACKEND}=none says so plainly"),
            ));
        }
        Ok(Self { storage, max_bytes, quota_bytes })
    }
}

impl S3Config {
    fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let needed = |variable: &str, what: &str| {
            settings
                .get(variable)
                .ok_or_else(|| ConfigError::new(variable, format!("is missing: {BACKEND}=s3 needs {what}")))
        };
        let bucket = needed(BUCKET, "the name of a bucket")?;
        let allowed = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '-' | '.')
        };
        if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(allowed) {
            let expected = "a bucket has 3 to 63 small letters, digits, - and .";
            return Err(ConfigError::new(BUCKET, format!("`{bucket}` is no name of a bucket; {expected}")));
        }
        let endpoint_url = settings.get(ENDPOINT).map(|text| endpoint(ENDPOINT, text)).transpose()?;
        let path_style = parse(settings, PATH_STYLE, "true or false")?;
        Ok(Self {
            bucket: bucket.to_owned(),
            region: settings.get(REGION).unwrap_or("us-east-1").to_owned(),
            public_endpoint_url: settings
                .get(PUBLIC_ENDPOINT)
                .map(|text| endpoint(PUBLIC_ENDPOINT, text))
                .transpose()?,
            access_key_id: Secret::new(needed(KEY_ID, "the id of an access key")?),
            secret_access_key: Secret::new(needed(KEY, "an access key")?),
            // Services of one's own seldom have a name for each bucket.
            path_style: path_style.unwrap_or(endpoint_url.is_some()),
            endpoint_url,
        })
    }
}

/// The address of a service. It may hold a password by mistake, so the message doesn't quote it.
fn endpoint(variable: &str, text: &str) -> Result<String, ConfigError> {
    let url = Url::parse(text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
    });
    let url = url.ok_or_else(|| {
        ConfigError::new(variable, "not the URL of a service without a path; give https://s3.example.com")
    })?;
    Ok(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, path::Path};

    use super::*;

    const S3: [(&str, &str); 4] = [(BACKEND, "s3"), (BUCKET, "memories"), (KEY_ID, "hunter2-id"), (KEY, "hunter2-key")];

    fn read(pairs: &[(&str, &str)]) -> Result<FilesConfig, String> {
        let pairs = pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::from_sources(pairs, Path::new("/nonexistent")).unwrap();
        let folder = PathBuf::from("/data");
        let directories = DirectoryConfig { data: folder.clone(), runtime: folder.clone(), site: folder };
        FilesConfig::from_settings(&settings, &directories).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_kept_in_the_data_directory_unless_told_otherwise() {
        let config = read(&[]).unwrap();
        assert!(matches!(&config.storage, FileStorageConfig::Local(folder) if folder == Path::new("/data/blobs")));
        assert_eq!((config.max_bytes, config.quota_bytes), (GIB, Some(50 * GIB)));
        assert!(matches!(read(&[(BACKEND, "none")]).unwrap().storage, FileStorageConfig::None));
        let config = read(&[(MAX, "10"), (QUOTA, "100")]).unwrap();
        assert_eq!((config.max_bytes, config.quota_bytes), (10, Some(100)));
    }

    #[test]
    fn a_service_of_ones_own_has_the_bucket_in_the_path() {
        let storage = |more: &[(&str, &str)]| match read(&[&S3, more].concat()).unwrap().storage {
            FileStorageConfig::S3(config) => config,
            other => panic!("{other:?}"),
        };
        let aws = storage(&[]);
        assert_eq!((aws.region.as_str(), aws.path_style, aws.endpoint_url), ("us-east-1", false, None));
        let own = storage(&[(ENDPOINT, "http://minio:9000/"), (REGION, "here")]);
        assert_eq!((own.region.as_str(), own.path_style), ("here", true));
        assert_eq!(own.endpoint_url.as_deref(), Some("http://minio:9000"));
        assert!(!storage(&[(ENDPOINT, "https://r2.example.com"), (PATH_STYLE, "false")]).path_style);
    }

    #[test]
    fn what_is_wrong_or_half_set_is_named_and_no_secret_shown() {
        let without = |name: &str| S3.into_iter().filter(|(other, _)| *other != name).collect::<Vec<_>>();
        let with = |name, value| [S3.as_slice(), &[(name, value)]].concat();
        for (pairs, variable) in [
            (vec![(BACKEND, "disk")], BACKEND),
            (vec![(BUCKET, "memories")], BUCKET),
            (vec![(BACKEND, "none"), (KEY, "hunter2-key")], KEY),
            (without(BUCKET), BUCKET),
            (without(KEY_ID), KEY_ID),
            (without(KEY), KEY),
            (with(BUCKET, "No"), BUCKET),
            (with(ENDPOINT, "minio"), ENDPOINT),
            (with(ENDPOINT, "https://hunter2:x@s3.example.com"), ENDPOINT),
            (with(PUBLIC_ENDPOINT, "https://s3.example.com/path"), PUBLIC_ENDPOINT),
            (with(PATH_STYLE, "maybe"), PATH_STYLE),
            (vec![(MAX, "1 GB")], MAX),
            (vec![(MAX, "0")], MAX),
            (vec![(MAX, "6000000000")], MAX),
            (vec![(QUOTA, "0")], QUOTA),
            (vec![(QUOTA, "-1")], QUOTA),
        ] {
            let message = read(&pairs).unwrap_err();
            assert!(message.starts_with(&format!("{variable}: ")), "{pairs:?}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
        assert!(!format!("{:?}", read(&S3).unwrap()).contains("hunter2"));
    }
}
